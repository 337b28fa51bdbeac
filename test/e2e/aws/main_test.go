package aws_test

import (
	"os"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/ccm-migration/ccm-migration-controller/test/e2e/suite"
	"github.com/ccm-migration/ccm-migration-controller/test/testbed/awscloud"
)

// TestMain gives the specs the address at which instances find their metadata.
func TestMain(m *testing.M) {
	suite.Prepare()
	klog.SetLogger(logr.Discard())
	os.Exit(suite.RunInOwnNetwork(m, awscloud.MetadataAddress))
}

func TestAWS(t *testing.T) { suite.Run(t, "aws") }
