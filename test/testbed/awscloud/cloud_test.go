package awscloud_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ccm-migration/ccm-migration-controller/test/testbed/awscloud"
)

// ask sends the request post-x-www-form-urlencoded of Amazon's test suite for signatures, with its signature.
// https://github.com/awslabs/aws-c-auth/tree/main/tests/aws-signing-test-suite/v4/post-x-www-form-urlencoded
func ask(cloud *awscloud.Cloud, change func(r *http.Request)) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodPost, "http://example.amazonaws.com/", strings.NewReader("Param1=value1"))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("X-Amz-Date", "20150830T123600Z")
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "+
		"SignedHeaders=content-type;host;x-amz-date, Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a")
	change(request)
	answer := httptest.NewRecorder()
	cloud.ServeHTTP(answer, request)
	return answer
}

func TestSignaturesAndActionsAreChecked(t *testing.T) {
	world := awscloud.World{
		Region:          "us-east-1",
		AccessKeyID:     "AKIDEXAMPLE",
		SecretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
	}
	for name, tc := range map[string]struct {
		world  func(w *awscloud.World)
		change func(r *http.Request)
		status int
		code   string
	}{
		"an action that no one expected": {status: http.StatusBadRequest, code: "InvalidAction"},
		"no signature": {
			change: func(r *http.Request) { r.Header.Del("Authorization") }, status: http.StatusForbidden,
			code: "MissingAuthenticationToken",
		},
		"another access key": {
			world: func(w *awscloud.World) { w.AccessKeyID = "AKIDOTHER" }, status: http.StatusForbidden, code: "InvalidClientTokenId",
		},
		"another region": {
			world: func(w *awscloud.World) { w.Region = "eu-central-1" }, status: http.StatusForbidden, code: "InvalidClientTokenId",
		},
		"another secret": {
			world: func(w *awscloud.World) { w.SecretAccessKey += "x" }, status: http.StatusForbidden, code: "SignatureDoesNotMatch",
		},
		"a header that was changed": {
			change: func(r *http.Request) { r.Host = "example.com" }, status: http.StatusForbidden, code: "SignatureDoesNotMatch",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			mine := world
			if tc.world != nil {
				tc.world(&mine)
			}
			if tc.change == nil {
				tc.change = func(*http.Request) {}
			}
			cloud := awscloud.New(mine)
			answer := ask(cloud, tc.change)
			g.Expect(answer.Code).To(Equal(tc.status))
			g.Expect(answer.Body.String()).To(ContainSubstring("<Code>" + tc.code + "</Code>"))
			g.Expect(cloud.Calls()).To(HaveLen(1))
			g.Expect(cloud.Calls()[0].Refusal).To(Equal(tc.code))
		})
	}
}
