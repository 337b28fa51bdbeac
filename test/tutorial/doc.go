// Package tutorial runs the commands of docs/tutorial.md, as a reader copies them, and compares what they print with what stands
// there. It may import what reads Markdown, and nothing of the project: a reader has only the page and the checkout. It never
// changes a command, and never leaves one out.
package tutorial
