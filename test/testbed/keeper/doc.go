// Package keeper is the program data-keeper: a workload that has data and knows whether they are still the same. On an
// empty volume it writes a file and the file's checksum; on any other it compares them, and ends when they differ. Then
// it adds a line to a third file, which says where it ran, and is ready; and another one when it ends.
//
// It may import the frame of the machine-controller's stand-ins. It knows nothing of volumes, and repairs nothing.
package keeper
