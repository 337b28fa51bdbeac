// Package overlay lays a ProviderProfile over what is rendered for a cluster: mirrors and tags of images, and arguments,
// resources, tolerations and priority of workloads. A profile that has any problem changes nothing.
//
// It imports the API types, pkg/provider/contents, manifest and render. It never imports a client, a context, a clock or a
// logger, knows no provider by its name, changes nothing of the sets that it is given, and never puts the value of an argument
// into a message.
package overlay
