// Package ownership tells who writes an object that is not ours, by the marks that tools and programs leave on it. It imports
// nothing of the project. It reads metadata only, and a mark proves nothing: who goes by it asks a person.
package ownership
