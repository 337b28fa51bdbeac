// Package handover proves that KCM runs no cloud loop, and that the migration lock keeps both managers from the same one. All of
// it is functions of what was seen: Prove and Doubts for a CCM behind a fence, LockDoubts for one beside the migration lock, Loud
// for the guard afterwards. It imports what was observed and the configuration of the lock, changes nothing, and knows no step of
// the migration.
package handover
