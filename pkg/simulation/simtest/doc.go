// Package simtest plays scenarios in the simulated world: faults and people that a seed draws, a controller that may be killed
// between any two lines, and the safety rules, which are checked on the world's truth after every step. A run leaves a
// transcript, the story of what was done; those of the stories are golden files in testdata.
//
// It may import pkg/simulation and what that may import. Only tests import it. It never decides for the controller, and never
// takes the controller's word: rules are checked on the world's truth.
package simtest
