// Package handover measures hand-overs of the cloud loops from the cloud's side. A Scenario is data: how a user cluster
// is set up, who disturbs its hand-over, which result is right and which bars hold. While one runs, a load driver creates
// and deletes Services and adds and kills Nodes. What is reported is computed from raw records alone, a folder for each
// scenario: the cloud's log, samples of the managers' own metrics, and what a watch saw.
//
// It may import the testbed and the API types, and never the code under test: it believes nothing that the controller
// says but for the result itself.
package handover
