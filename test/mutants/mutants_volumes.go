package main

// Volumes of the in-tree plugins are seen, and served where they are.
func volumes() []mutant {
	const rule = "volumes"
	return []mutant{
		of(vspherePackage, rule, "zones of one vCenter get labels that CSI migration does not know",
			"labels.topology", always("severalCenters")),
		of(vspherePackage, rule, "zones of several vCenters are in the form for one",
			"labels.topology", never("severalCenters")),
	}
}
