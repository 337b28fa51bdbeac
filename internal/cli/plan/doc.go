// Package plan has the commands that observe both clusters as a pass does, and say what would be done: plan, adoption. It may
// import everything but the other commands; what it sends to a user cluster are reads and dry runs only.
package plan
