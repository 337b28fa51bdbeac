// Package noreturn judges the point of no return: whether a migration can still be rolled back, and what stands against it.
//
// It imports the rooms pass and components of package migration. It rolls nothing back.
package noreturn
