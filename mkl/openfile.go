package mkl

import (
	"bytes"
	"fmt"
	"os"

	"github.com/bmkl/bmkl/internal/mapped"
)

// File is a model whose file is open.
type File struct {
	Model Model

	file *mapped.File
}

// OpenFile reads a model as [Load] does. The prepared values of a compiled file stay in the file, which is mapped into memory where
// the system can do so: programs that open the same file share them. The file must not be changed before Close. To replace it, rename
// another file to its name. See [Compile].
func OpenFile(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("mkl: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("mkl: %w", err)
	}
	in, err := mapped.Open(f, info.Size())
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("mkl: %w", err)
	}
	out := &File{file: in}
	if data := in.Data(); len(data) > 0 {
		out.Model, err = loadIn(bytes.NewReader(data), data)
	} else {
		out.Model, err = Load(f)
	}
	if err != nil {
		_ = in.Close()
		return nil, err
	}
	return out, nil
}

// Close closes the file. The model's predictors must not be used after it: they read the file.
func (f *File) Close() error {
	if err := f.file.Close(); err != nil {
		return fmt.Errorf("mkl: %w", err)
	}
	return nil
}
