package simcloud

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestParseConfig(t *testing.T) {
	tests := map[string]struct {
		text    string
		want    Config
		wantErr string
	}{
		"comments, spaces and keys of other clients are skipped": {
			text: "# cloud\n\n endpoint = http://127.0.0.1:1/ \ncluster=a\ntoken=t=1\nregion=x\n",
			want: Config{Endpoint: "http://127.0.0.1:1", Cluster: "a", Token: "t=1"},
		},
		"all missing keys are named":          {text: "cluster=a\ntoken=", wantErr: "lacks endpoint, token"},
		"a line without a value is named":     {text: "cluster=a\nsecret", wantErr: "line 2 is not of the form key=value"},
		"an endpoint must be a URL with host": {text: "endpoint=127\ncluster=a\ntoken=t", wantErr: "endpoint is no URL"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := ParseConfig(strings.NewReader(tc.text))
			if tc.wantErr != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.wantErr)))
				g.Expect(err.Error()).NotTo(ContainSubstring("secret"))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(tc.want))
		})
	}
	_, err := ParseConfig(nil)
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("--cloud-config")))
}
