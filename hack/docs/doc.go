// Command docs writes the part of docs/ that is generated: migration.md from the tables of pkg/migration, conditions.md from the
// constants of the API and their comments, leader-migration.md from the tables of pkg/leadermigration, and the tables of lines in
// handover.md, whose other tables and pictures it compares with the code. Each document of providers/ has a part from the
// catalogue of pkg/provider, and below it one that people write. The matrix and the version rules of README.md, which is written
// beside OUT_DIR, come from the catalogue, too.
//
//	docs OUT_DIR
//
// It runs in the root of the repository and may import the standard library, the API types, pkg/migration, pkg/leadermigration,
// pkg/provider and docs/runbooks. It never reads a document but README.md, handover.md and those of providers/, knows of the
// runbooks only which there are, and adds no fact of its own: what is wrong in its output is fixed in the code.
package main
