package awscloud

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// scope is what a request was signed for.
type scope struct {
	date, region, service string
}

// verify refuses a request that was not signed with the access key, as AWS does.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
func (w World) verify(r *http.Request, body []byte) (scope, *refusal) {
	fields := map[string]string{}
	header, signed := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !signed {
		return scope{}, forbid("MissingAuthenticationToken", "the request is not signed")
	}
	for field := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		fields[name] = value
	}
	credential := strings.Split(fields["Credential"], "/")
	if len(credential) != 5 || credential[0] != w.AccessKeyID || credential[2] != w.Region {
		return scope{}, forbid("InvalidClientTokenId", "the access key, or the region, is another one")
	}
	s := scope{date: credential[1], region: credential[2], service: credential[3]}
	text := strings.Join([]string{
		"AWS4-HMAC-SHA256",
		r.Header.Get("X-Amz-Date"),
		strings.Join(credential[1:], "/"),
		digest(canonical(r, fields["SignedHeaders"], body)),
	}, "\n")
	if !hmac.Equal([]byte(hex.EncodeToString(sign(w.signingKey(s), text))), []byte(fields["Signature"])) {
		return scope{}, forbid("SignatureDoesNotMatch", "the secret access key is another one")
	}
	return s, nil
}

// canonical is the request as it is signed.
func canonical(r *http.Request, signedHeaders string, body []byte) string {
	var headers strings.Builder
	for name := range strings.SplitSeq(signedHeaders, ";") {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		headers.WriteString(name + ":" + strings.TrimSpace(value) + "\n")
	}
	lines := []string{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, headers.String(), signedHeaders, digest(string(body))}
	return strings.Join(lines, "\n")
}

func (w World) signingKey(s scope) []byte {
	key := []byte("AWS4" + w.SecretAccessKey)
	for _, part := range []string{s.date, s.region, s.service, "aws4_request"} {
		key = sign(key, part)
	}
	return key
}

func sign(key []byte, text string) []byte {
	code := hmac.New(sha256.New, key)
	// A hash never returns an error.
	_, _ = code.Write([]byte(text))
	return code.Sum(nil)
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
