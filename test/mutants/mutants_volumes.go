package main

// Volumes of the in-tree plugins are seen, and served where they are.
func volumes() []mutant {
	const rule = "volumes"
	return []mutant{
		of(vspherePackage, rule, "zones of one vCenter get labels that CSI migration does not know",
			"labels.topology", always("severalCenters")),
		of(vspherePackage, rule, "zones of several vCenters are in the form for one",
			"labels.topology", never("severalCenters")),
		ofRolloutTables(rule, "Nodes are drained before their volumes are registered", "rollNext", never("volumesRegistered")),
		ofRolloutTables(rule, "a step is granted before the volumes are registered", "stepNext", never("volumesRegistered")),
		ofRolloutTables(rule, "registered volumes that cannot be looked at are all of them", "volumesRegistered",
			never("Registered IsUnknown")),
		ofRolloutTables(rule, "one accepted volume is all of them", "unregistered",
			instead("Contains AcceptVolumes", "len(in.o.Cluster.Spec.Rollout.AcceptVolumes) > 0")),
		ofRolloutTables(rule, "a volume that is not registered is waited for without end", "unregistered", never("rest")),
		of(factsPackage, rule, "rights that are missing look like a CRD that is", "Reader.RegisteredVolumes", always("IsNotFound")),
		of(factsPackage, rule, "volumes that were made by hand are not registered", "pathToRegister", never("static")),
		of(factsPackage, rule, "in-tree volumes of OpenStack are not seen", "inTreePlugin", never("Cinder")),
		of(factsPackage, rule, "in-tree volumes of AWS are not seen", "inTreePlugin", never("AWSElasticBlockStore")),
		of(factsPackage, rule, "in-tree disks of Azure are not seen", "inTreePlugin", never("AzureDisk")),
		of(factsPackage, rule, "in-tree file volumes of Azure are not seen", "inTreePlugin", never("AzureFile")),
		of(factsPackage, rule, "in-tree volumes of Google Cloud are not seen", "inTreePlugin", never("GCEPersistentDisk")),
		of(factsPackage, rule, "in-tree volumes of vSphere are not seen", "inTreePlugin", never("VsphereVolume")),
		of(factsPackage, rule, "file volumes of Azure in pods are not seen", "inlinePlugin", never("AzureFile")),
		of(factsPackage, rule, "volumes of vSphere in pods are not seen", "inlinePlugin", lacks("VsphereVolume")),
		of(factsPackage, rule, "what CSI migration refuses in pods is not seen", "addPod", never("inlineTranslatable")),
		of(factsPackage, rule, "a panic of the library for a tenant's pod ends the pass", "translates", never("recover")),
		ofBaseline(rule, "a volume is not lost although its claim is there", "comparison.noteGone", never("left")),
		ofBaseline(rule, "a volume is not lost although it is attached", "comparison.noteGone", never("at 0")),
		ofBaseline(rule, "what no one looked for is gone", "comparison.noteGone", always("looked")),
		ofBaseline(rule, "what could not be looked for does not matter", "Differences", never("unseen")),
		of(factsPackage, rule, "a Service of another type is gone", "Reader.goneService", without("UID")),
		of(factsPackage, rule, "a claim without its volume is gone", "Reader.goneClaim", never("VolumeName Name")),
		of(factsPackage, rule, "a claim that cannot be read is gone", "Reader.goneClaim", never("IgnoreNotFound")),
		of(factsPackage, rule, "what is still there is remembered", "goneMemory.recall", without("Left")),
		in(rule, "a rollback takes away a driver that serves in-tree volumes", "rollback.driverUnneeded", without("MigratedPlugins")),
	}
}
