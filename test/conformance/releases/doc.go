// Package releases runs programs of single releases of Kubernetes as they were released, and compares what they do with what
// our tables say of these releases. make test runs it with KCM of the next minor, which make binaries-test builds; make
// kcm-releases builds others and runs it with each of them.
package releases
