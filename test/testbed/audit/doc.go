// Package audit reads what an API server writes down of requests: who sent which, and whether it only was a dry run. Tests prove
// with it that something only reads. It may import the standard library; it starts nothing.
package audit
