package serving

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bmkl/bmkl/mkl/record"
)

// Model is a model file that is served. The predictor can be replaced while requests are answered.
type Model struct {
	name, path string
	tolerance  float64 // of predictions; 0: the predictions of the model
	now        atomic.Pointer[version]
	refused    atomic.Pointer[string] // why the newest file does not replace the predictor; nil if it does

	loading sync.Mutex  // guards seen, and lets one load at a time
	seen    os.FileInfo // the file at the last attempt to load it; nil if there was none
}

// version is one state of a model file. It does not change.
type version struct {
	predictor *record.Predictor
	columns   []record.Column
	loaded    time.Time
	file      os.FileInfo
}

// OpenModel loads a model file. The model's name is the name of the file without its extension. Predictions may
// differ by a tolerance from the model's, unless it is 0: see [record.Predictor.Within].
func OpenModel(ctx context.Context, path string, tolerance float64) (*Model, error) {
	base := filepath.Base(path)
	m := &Model{name: strings.TrimSuffix(base, filepath.Ext(base)), path: path, tolerance: tolerance}
	if m.name == "" {
		m.name = base
	}
	if _, err := m.Reload(ctx); err != nil {
		return nil, err
	}
	return m, nil
}

// Reload loads the file again. It predicts a record to check the new predictor, which then replaces the old one. After
// an error the old predictor stays. Requests that are being answered keep the predictor that they began with. The
// remark is empty, or names what clients may have to change.
func (m *Model) Reload(ctx context.Context) (remark string, err error) {
	m.loading.Lock()
	defer m.loading.Unlock()
	return m.reload(ctx)
}

// Poll reloads the file if it is another one, or has another size or time of change, than at the last attempt.
func (m *Model) Poll(ctx context.Context) (tried bool, remark string, err error) {
	m.loading.Lock()
	defer m.loading.Unlock()
	info, err := os.Stat(m.path)
	if err != nil && m.seen == nil || err == nil && m.seen != nil && same(info, m.seen) {
		return false, "", nil
	}
	remark, err = m.reload(ctx)
	return true, remark, err
}

// same reports whether nothing shows that a file changed.
func same(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

func (m *Model) reload(ctx context.Context) (remark string, err error) {
	v, err := m.read(ctx)
	if err != nil {
		if ctx.Err() == nil {
			why := err.Error()
			m.refused.Store(&why)
		}
		return "", err
	}
	if old := m.now.Swap(v); old != nil {
		remark = v.differs(old)
	}
	m.refused.Store(nil)
	return remark, nil
}

// read reads the file and checks that it predicts.
func (m *Model) read(ctx context.Context) (*version, error) {
	m.seen = nil
	f, err := os.Open(m.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	m.seen = info
	p, err := record.Open(f)
	if err == nil && m.tolerance > 0 {
		p, err = p.Within(m.tolerance)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.path, err)
	}
	v := &version{predictor: p, columns: p.Columns(), loaded: time.Now(), file: info}
	if err := v.check(ctx); err != nil {
		return nil, fmt.Errorf("%s: the model does not predict: %w", m.path, err)
	}
	return v, nil
}

// check predicts a record with a value in each column that needs one.
func (v *version) check(ctx context.Context) error {
	probe := map[string]any{}
	for _, c := range v.columns {
		probe[c.Name] = nil
		if c.Required {
			probe[c.Name] = example(c)
		}
	}
	out, err := v.predictor.Predict(ctx, probe)
	if err != nil {
		return err
	}
	for _, n := range out.Numbers {
		if math.IsNaN(n.Mean) || math.IsNaN(n.SD) {
			return errors.New("a prediction is NaN")
		}
	}
	for _, t := range out.Times {
		if math.IsNaN(t.Median) || math.IsNaN(t.Risk) {
			return errors.New("a prediction is NaN")
		}
	}
	for _, c := range out.Classes {
		if math.IsNaN(c.Probability) {
			return errors.New("a probability is NaN")
		}
	}
	for _, l := range out.Labels {
		if math.IsNaN(l.Probability) {
			return errors.New("a probability is NaN")
		}
	}
	return nil
}

// example is a value that a column can have.
func example(c record.Column) any {
	switch {
	case c.Role == record.ExposureRole:
		return 1.0
	case c.Type == "boolean":
		return false
	case c.Type == "text" && len(c.Categories) > 0:
		return c.Categories[0]
	case c.Type == "text":
		return "a"
	case strings.HasPrefix(c.Type, "date"):
		return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return 0.0
}

// differs names what clients of an older version may have to change.
func (v *version) differs(old *version) string {
	var what []string
	if v.predictor.Task() != old.predictor.Task() {
		what = append(what, "task")
	}
	if !reflect.DeepEqual(v.predictor.Targets(), old.predictor.Targets()) {
		what = append(what, "targets")
	}
	if !reflect.DeepEqual(v.columns, old.columns) {
		what = append(what, "columns")
	}
	return strings.Join(what, ", ")
}
