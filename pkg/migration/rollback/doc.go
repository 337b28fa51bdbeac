// Package rollback has the rows of a rollback that have no part in the migration: the fence is closed, the CCM goes and is proven
// silent, KCM gets its loops back, volumes and addons follow.
//
// It imports the other rooms of package migration. Package migration walks its rows, and rolls Machines back by itself.
package rollback
