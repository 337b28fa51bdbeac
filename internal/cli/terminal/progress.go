package terminal

import (
	"io"
	"os"
	"sync"
	"time"
)

// Progress shows what a command is doing that prints nothing yet: a bar of its steps, and for how long. It is drawn over on a
// terminal, and is not there anywhere else.
type Progress struct {
	out    io.Writer
	screen Screen
	steps  int
	stop   func()

	mu    sync.Mutex
	begun int
	what  string
	began time.Time
}

// NewProgress of a command with so many steps, beside what it prints: on its error stream. End ends it.
func NewProgress(errs io.Writer, getenv func(string) string, steps int) *Progress {
	p := &Progress{out: io.Discard, steps: steps, stop: func() {}}
	if neutral, is := errs.(Output); is {
		errs = neutral.Writer // What is drawn is ours.
	}
	file, is := errs.(*os.File)
	if !is {
		return p
	}
	width, _, is := terminalSize(file)
	if !is {
		return p
	}
	p.out, p.screen = file, Screen{Width: width, ASCII: !speaksUnicode(getenv)}
	over, ended := make(chan struct{}), make(chan struct{})
	p.stop = func() { close(over); <-ended }
	go func() {
		defer close(ended)
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-over:
				return
			case now := <-ticker.C:
				p.draw(now)
			}
		}
	}()
	return p
}

// Step begins the next one.
func (p *Progress) Step(what string) {
	p.mu.Lock()
	now := time.Now()
	p.begun, p.what, p.began = p.begun+1, what, now
	p.mu.Unlock()
	p.draw(now)
}

// draw the line in its place. What is wider than the terminal would make a second line, which is never drawn over.
func (p *Progress) draw(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.begun == 0 {
		return
	}
	line := p.screen.Bar(float64(p.begun-1)/float64(p.steps), 2*p.steps) + " " + p.what + p.screen.Sign("…", "...")
	if lasts := now.Sub(p.began); lasts >= time.Second {
		line += " " + Age(lasts)
	}
	_, _ = io.WriteString(p.out, "\r"+p.screen.Cut(line, p.screen.Width-1)+clearLine)
}

// End takes the line away.
func (p *Progress) End() {
	p.stop()
	if p.begun > 0 {
		_, _ = io.WriteString(p.out, "\r"+clearLine)
	}
}
