// Package wording has what messages of all packages are made of, so that they say the same in the same way.
//
// It imports the standard library only, and knows nothing of clusters.
package wording
