// Package render has the commands that show the catalogue: what would be applied, and which versions there are. It may import
// everything but the other commands; it asks no cluster, and registries only for digests.
package render
