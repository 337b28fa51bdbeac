// Package fence has the command that looks at the fence of a CCM and, when there is no controller to do it, opens or closes it.
// It may import everything but the other commands; it never opens a fence that is not safe to open.
package fence
