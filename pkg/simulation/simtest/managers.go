package simtest

import "slices"

// running lists who runs a loop now: the truth that the rules are about.
func running(w *World, loop string) []string {
	var names []string
	for _, p := range w.ControlPlane.Processes {
		if p.RunsLoops() && p.Elects && slices.Contains(p.Loops, loop) {
			names = append(names, p.PodName)
		}
	}
	for _, p := range w.CCM.Processes {
		if p.RunsLoops() && slices.Contains(w.CCM.Inherited.Loops, loop) {
			names = append(names, p.PodName)
		}
	}
	return names
}
