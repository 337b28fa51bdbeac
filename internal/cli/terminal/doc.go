// Package terminal is how commands speak to people and programs: formats, screens, frames, colours, exit codes. What it prints
// cannot command a terminal. It may import plain text packages of ours only, and never asks a cluster for anything.
package terminal
