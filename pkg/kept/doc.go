// Package kept lets a pass use again what an earlier pass read, as long as it is so: a watch or we ourselves would have said that
// it changed. A read is kept for MostAge at most, because a watch whose connection died says nothing; and never where a proof
// needs that very moment: who reads for one says so with Live.
//
// It may import pkg/observation. It never reads, and never keeps what could not be looked at.
package kept
