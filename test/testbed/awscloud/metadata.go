package awscloud

import (
	"fmt"
	"io"
	"net/http"
)

const (
	// MetadataAddress is where instances find their metadata.
	MetadataAddress = "169.254.169.254"
	metadataToken   = "metadata-token"
	tokenHeader     = "X-Aws-Ec2-Metadata-Token"
)

// Metadata answers what an instance that has a role asks for, by the second version of the service, which wants a token.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
func (c *Cloud) Metadata(instanceID string) http.Handler {
	const data = "/latest/meta-data/"
	const credentials = `{"Code": "Success", "AccessKeyId": %q, "SecretAccessKey": %q, "Token": "role-token", ` +
		`"Expiration": "2099-01-01T00:00:00Z"}`
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /latest/api/token", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(tokenHeader+"-Ttl-Seconds", "21600")
		_, _ = io.WriteString(w, metadataToken)
	})
	for path, answer := range map[string]string{
		data + "instance-id":                   instanceID,
		data + "iam/security-credentials/{$}":  "role",
		data + "iam/security-credentials/role": fmt.Sprintf(credentials, c.world.AccessKeyID, c.world.SecretAccessKey),
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get(tokenHeader) != metadataToken {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			_, _ = io.WriteString(w, answer)
		})
	}
	return mux
}
