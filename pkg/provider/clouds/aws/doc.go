// Package aws is the profile of AWS: the cloud-controller-manager of https://github.com/kubernetes/cloud-provider-aws and
// the EBS CSI driver of https://github.com/kubernetes-sigs/aws-ebs-csi-driver for Kubernetes 1.24 to 1.36. The facts were
// read from their tags; the comments name the files.
//
// The Secret has cloud.conf as the in-tree provider reads it, and accessKeyId and secretAccessKey where the instances' own
// IAM roles are not to be used. What goes to the user cluster is rendered again: for the release of the CCM, and the
// credentials as a file that the AWS SDKs read.
//
// The StorageClass names its volume type, because the in-tree default is gp2 and that of the driver gp3.
//
// Left out on purpose:
//   - The loop tagging of the CCM. It is off by default and needs more rights in the cloud; the in-tree provider had nothing
//     like it.
//   - ecr-credential-provider, the kubelet's way to pull from ECR: it is a binary on the Nodes. Description has it as a hazard.
//   - Temporary credentials and a CA bundle of one's own: the first would run out in the Secret, the second only serves
//     clouds that imitate AWS.
//   - nodeAllocatableUpdatePeriodSeconds of the CSIDriver. The newest minors alone keep it, older API servers refuse it, and
//     without it a Node's limit of volumes is counted when the driver starts, as before.
//   - Windows Nodes and Fargate.
//
// It imports pkg/leadermigration for the last minor in-tree, pkg/observation, pkg/provider/manifest and releases, the API types
// and the Kubernetes API machinery's value types. It never imports a client, a context, a clock or a logger.
package aws
