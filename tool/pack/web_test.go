package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// packed makes the packages of the web, and returns the folder that holds them.
func packed(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the command for WebAssembly")
	}
	t.Chdir("../..")
	out := t.TempDir()
	require.NoError(t, run([]string{"web", "-o", out, "-version", "v1.2.3"}))
	return out
}

// TestWeb runs the package in Node, on files in memory and on files of the disk, and the playground in a browser. All that the browser
// asks the server for is files of the playground.
func TestWeb(t *testing.T) {
	out := packed(t)
	t.Run("npm", func(t *testing.T) {
		node, err := exec.LookPath("node")
		if err != nil {
			t.Skip("no Node here")
		}
		at := t.TempDir()
		unpack(t, filepath.Join(out, "bmkl-1.2.3.tgz"), at)
		meta, err := os.ReadFile(filepath.Join(at, "package", "package.json"))
		require.NoError(t, err)
		require.Contains(t, string(meta), `"version": "1.2.3"`)
		for _, args := range [][]string{{"web/test/npm.js", filepath.Join(at, "package")}, {filepath.Join(at, "package", "mkl.js"), "version"}} {
			said, err := exec.CommandContext(t.Context(), node, args...).CombinedOutput()
			require.NoError(t, err, string(said))
			require.Contains(t, string(said), "js/wasm")
		}
	})
	t.Run("playground", func(t *testing.T) { playground(t, filepath.Join(out, "playground")) })
}

func unpack(t *testing.T, archive, folder string) {
	t.Helper()
	data, err := os.ReadFile(archive)
	require.NoError(t, err)
	z, err := gzip.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	r := tar.NewReader(z)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		path := filepath.Join(folder, filepath.FromSlash(h.Name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, text, 0o666))
	}
}

// drop is a script that stands for a person: it drops a table on the page, and fits when the page has read it.
const drop = `
const table = "x,\"a, b\",y\n" + Array.from({length: 30}, (_, i) => (i * 11) % 30 + "," + (i * 7) % 5 + "," + (2 * ((i * 11) % 30) + 3)).join("\n") + "\n";
const data = new DataTransfer();
data.items.add(new File([table], "secret.csv"));
document.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
const later = setInterval(() => {
  if (document.getElementById("fit").disabled) return;
  clearInterval(later);
  document.getElementById("seen").textContent = [...document.querySelectorAll("option")].map((o) => o.value).join("|") + "|" + document.getElementById("target").value;
  document.getElementById("form").requestSubmit();
}, 20);
new MutationObserver(() => {
  const text = document.getElementById("state").textContent;
  if (!/^(Done|The fit ended|The program|mkl:)/.test(text)) return;
  const body = text + "|" + document.getElementById("seen").textContent + "|" + document.getElementById("said").textContent + "|" + document.getElementById("report").srcdoc.length;
  fetch("outcome", {method: "POST", body});
}).observe(document.getElementById("state"), {childList: true});
`

// playground drops a table on the page in a browser, which fits and reports.
func playground(t *testing.T, folder string) {
	var browser string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("no Chromium here")
	}
	outcome := make(chan string, 1)
	var mu sync.Mutex
	var asked []string
	files := http.FileServer(http.Dir(folder))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/outcome": // of the test's script
			body, _ := io.ReadAll(r.Body)
			outcome <- string(body)
		case "/drop.js":
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = io.WriteString(w, drop)
		case "/":
			page, _ := os.ReadFile(filepath.Join(folder, "index.html"))
			_, _ = io.WriteString(w, strings.Replace(string(page), "</body>", `<i id="seen"></i><script type="module" src="drop.js"></script></body>`, 1))
		default:
			mu.Lock()
			asked = append(asked, r.Method+" "+r.URL.String())
			mu.Unlock()
			files.ServeHTTP(w, r)
		}
	}))
	defer server.Close()
	profile, err := os.MkdirTemp("", "browser")
	require.NoError(t, err)
	defer os.RemoveAll(profile) // processes of the browser may still write there for a moment
	c := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+profile, "--remote-debugging-port=0", server.URL)
	require.NoError(t, c.Start())
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	var got string
	select {
	case got = <-outcome:
	case err := <-ended:
		t.Fatalf("the browser ended: %v", err)
	}
	require.NoError(t, c.Process.Kill())
	<-ended
	parts := strings.Split(got, "|")
	require.GreaterOrEqual(t, len(parts), 6, got)
	assert.Regexp(t, `^Done in \d+\.\d s\.$`, parts[0], got)
	assert.Equal(t, []string{"x", "a, b", "y", "y"}, parts[1:5])
	assert.Contains(t, got, "model: model.mkl")
	assert.Regexp(t, `^\d{4,}$`, parts[len(parts)-1], "the report is a page")
	mu.Lock()
	defer mu.Unlock()
	for _, a := range asked {
		assert.Contains(t, []string{"GET /page.js", "GET /worker.js", "GET /index.js", "GET /memory.js", "GET /wasm_exec.js", "GET /mkl.wasm.gz", "GET /favicon.ico"}, a)
	}
}
