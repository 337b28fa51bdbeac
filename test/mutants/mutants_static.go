package main

// Rule 2 for static pods: the end of each is proven by what its kubelet shows.
func staticEnds() []mutant {
	const rule = "2 static"
	return []mutant{
		of(controlPlanePackage, rule, "a successor proves the end at once",
			"Reader.followStatic", against("RunningSince", "0")),
		of(controlPlanePackage, rule, "a successor on a Node that is not Ready proves it",
			"succeeded", without("Ready")),
		of(controlPlanePackage, rule, "a successor in another boot proves it", "succeeded", without("==")),
		of(controlPlanePackage, rule, "a successor without a boot to compare proves it",
			"succeeded", without("BootID -node")).and("succeeded", or("BootID node", `process.BootID == ""`)),
		of(controlPlanePackage, rule, "a successor that does not run proves it",
			"succeeded", without("RunningSince")),
		of(controlPlanePackage, rule, "the recorded container proves its own end",
			"succeeded", without("ContainerID")),
		of(controlPlanePackage, rule, "a static pod of another name proves it", "staticPodOf", without("PodName")),
		of(controlPlanePackage, rule, "a boot of another machine proves it",
			"rebooted", without("SystemUUID process")).and("rebooted", without("SystemUUID -process")),
		of(controlPlanePackage, rule, "two machines without an identity are the same",
			"sameMachine", always("SystemUUID")),
		of(controlPlanePackage, rule, "a person may vouch for a pod that is there", "Reader.followStatic", without("lost")),
		of(controlPlanePackage, rule, "a mirror pod that is being deleted has ended with its container",
			"staticLook.process", skips("Ended")),
		of(controlPlanePackage, rule, "a Node that is not Ready can be looked at",
			"staticLook.unseen", never("Ready")),
		of(controlPlanePackage, rule, "a Node that shows nothing runs nothing", "staticLook.unseen", never("shown")),
		of(controlPlanePackage, rule, "a labelled Node need not show anything",
			"staticLook.expected", never("Labels")),
		of(controlPlanePackage, rule, "a recorded Node need not show anything",
			"staticLook.expected", never("ConfigHash")),
		of(controlPlanePackage, rule, "every kubelet serializes",
			"staticLook.unseen", against("KubeletVersion", "0")),
		of(controlPlanePackage, rule, "a pod that is no static pod is overlooked",
			"staticLook.component", never("hasFinished")),
		of(controlPlanePackage, rule, "the end of one container is that of all",
			"endsIn", without("ContainerStatuses")),
		of(controlPlanePackage, rule, "only the first page of pods is read",
			"staticLook.readPods", always("Continue -List")),
		of(controlPlanePackage, rule, "of Nodes that disagree, the silent one counts",
			"argumentsOfStatic", never("loudness")),
		of(controlPlanePackage, rule, "of Nodes with loops, one that has the migration lock counts",
			"loudnessOf", never("MayRunUnlocked")),
		of(controlPlanePackage, rule, "a Node without loops counts beside one that has them by the migration lock",
			"loudnessOf", never("CloudLoops")),
		of(controlPlanePackage, rule, "a Node that a person vouched for is not looked at when it is back",
			"staticLook.vouchedFor", without("NodeName")),
		of(controlPlanePackage, rule, "pods that are missing after the start are none",
			"Reader.StaticControlPlane", without("Handover")),
	}
}

// Rule 2 where others change KCM: nothing is taken for done that is not.
func instructed() []mutant {
	const rule = "2 instruct"
	return []mutant{
		ofHandoverTables("2 static", "Nodes that cannot be seen are no doubt", "prove", never("Unseen")),
		inTables("2 static", "processes are recorded although a Node cannot be seen",
			"loops.processesRecorded", never("Unseen")),
		ofHandoverTables("2 static", "a static pod with loops is silent when its record has ended",
			"processDoubts", without("ConfigHash")),
		ofHandoverTables("2 static", "the Lease is not asked when one of the pods elects none",
			"Elects", never("leader-elect")),
		inTables("2 static", "Nodes need not agree on what the CCM inherits", "components.StaticProblem", always("Flags")),
		inTables(rule, "we change what is not ours to change", "loops.loopsOff", never("Instructed")),
		inTables(rule, "we take the flags out of what is not ours to change",
			"components.Every", never("Instructed")),
		inTables(rule, "the loops are off when one Node is missing", "loops.loopsOffByOthers", never("Unseen")),
		inTables(rule, "a Node is done before its former process has ended",
			"loops.loopsLeftOn", without("silent")),
		inTables(rule, "a Node is done before it runs again", "loops.loopsLeftOn", without("Runs")),
		inTables(rule, "the leader comes first", "components.Targets", swaps("Leads")),
		inTables(rule, "a Cluster goes while one Node is changed", "components.unchanged", never("CloudLoops")),
		inTables("1 ends", "an administrator may stop half way for ever",
			"components.WaitingSince", becomes("ChangingSince", "nil")),
	}
}

// Rule 2 where others give KCM the migration lock and take it.
func instructedLock() []mutant {
	const rule = "2 instruct"
	return []mutant{
		inTables(rule, "we give the lock to what is not ours to change", "loops.kcmArmed", never("Instructed")),
		inTables(rule, "one armed Node is enough for preflight", "start.lockTargetProblems", against("problems", "1000")),
		inTables(rule, "a Node has the lock before its former process has ended", "loops.lockLeftOut", without("rid")),
		inTables(rule, "a Node has the lock before it runs again", "loops.lockLeftOut", without("Runs")),
		inTables(rule, "all have the lock when one Node is missing", "loops.lockProvenOfOthers", without("Unseen")),
		inTables(rule, "a Node that lost the lock is only asked to take it again", "loops.lockAskedOfOthers", never("LockArmedAt")),
		inTables(rule, "loops that are back are given the lock again", "loops.lockAskedOfOthers", never("LoopsOffAt")),
		inTables(rule, "a fence that was closed opens without the proof", "loops.armedByOthers", without("Open")),
		inTables(rule, "a Node without loops may keep the lock", "loops.keepsLock", returns("KeepsLock", "false")),
		ofHandoverTables(rule, "a lock without its file is none", "KeepsLock", without("enable-leader-migration")),
		ofHandoverTables(rule, "a Node that cannot be seen has the lock", "LockDoubts", never("Unseen")),
		ofHandoverTables(rule, "a static pod has the lock when its record has ended", "unlockedProcesses", without("ConfigHash")),
		ofHandoverTables(rule, "the Node's name is the hostname", "HeldByArmedPod", lacks("Hostname")),
		inTables(rule, "a Cluster goes while one Node has the lock", "components.unchanged", without("Armed -LockArmedAt")),
		inTables(rule, "a Cluster goes while all Nodes have the lock", "components.unchanged", without("LockArmedAt")).
			and("unchanged", without("Armed -LockArmedAt")),
		inTables(rule, "a Cluster that goes leaves the right to the lock", "decideDeletion", never("UnusedLock")),
		inTables("1 ends", "a lock that no one gets is waited for for ever", "components.WaitingSince", becomes("LockArmedAt", "recorded.FenceOpenedAt")),
	}
}
