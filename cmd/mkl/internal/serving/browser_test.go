package serving

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// browse returns the page that a browser has after it opened an address and ran the scripts there.
func browse(t *testing.T, address string) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		out, err := exec.CommandContext(t.Context(), path, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(),
			"--virtual-time-budget=10000", "--dump-dom", address).Output()
		require.NoError(t, err)
		return string(out)
	}
	t.Skip("no Chromium here")
	return ""
}

// TestBrowser fills in the form of the page in a browser and sends it: the browser shows the prediction, and takes no name
// for markup.
func TestBrowser(t *testing.T) {
	s, _, _ := served(t, limits, "houses")
	const script = `<script>
		document.querySelector("#f0").value = "900";
		document.querySelector("#f1").value = "Ulm";
		document.querySelector("#f2").value = "yes";
		document.querySelector("button").click();
	</script></body>`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/" {
			s.Handler().ServeHTTP(w, r)
			return
		}
		page := httptest.NewRecorder() // the page, with a script in place of a person
		s.Handler().ServeHTTP(page, r)
		w.Header().Set("Content-Type", page.Header().Get("Content-Type"))
		_, err := w.Write([]byte(strings.Replace(page.Body.String(), "</body>", script, 1)))
		assert.NoError(t, err)
	}))
	defer server.Close()
	got := browse(t, server.URL)
	assert.Contains(t, got, "<h2>Prediction</h2>")
	assert.Contains(t, got, "<h3>&lt;b&gt;price&lt;/b&gt;: ")
	assert.Contains(t, got, `<svg viewBox="-40 0 480 50" role="img"`)
	assert.Contains(t, got, `value="900"`, "the form keeps what was sent")
	assert.Contains(t, got, "&lt;i&gt;city")
	assert.NotContains(t, got, "<script>")
}
