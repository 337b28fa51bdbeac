// Package rolling is the arithmetic of a rolling update: how many Machines the
// new MachineSet may have, and how many the old ones must give up.
//
// It is pure: numbers in, numbers out. It imports intstr only and never knows
// a client, a clock or an object.
package rolling
