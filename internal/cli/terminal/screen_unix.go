//go:build unix

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminalSize is that of a terminal; what is no terminal has none.
func terminalSize(file *os.File) (width, height int, ok bool) {
	size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 {
		return 0, 0, false
	}
	return int(size.Col), int(size.Row), true
}
