package table

import (
	"fmt"
	"strconv"
	"strings"
)

// distinct gives each column a name of its own: the second of a name is called after its place
// among them, as in price.2, and one without a name after its position. The remarks say
// which were.
func distinct(names []string) (unique, remarks []string) {
	taken, count := make(map[string]bool, len(names)), map[string]int{}
	for _, name := range names {
		taken[name] = true
	}
	seen := make(map[string]bool, len(names))
	var renamed []string
	unique = make([]string, len(names))
	for j, name := range names {
		switch {
		case name == "":
			if name = strconv.Itoa(j + 1); taken[name] {
				name = another(name, 2, taken)
			}
		case seen[name]:
			first := name
			count[first] = max(count[first], 1) + 1
			name = another(first, count[first], taken)
			renamed = append(renamed, fmt.Sprintf("%s is called %s", ordinal(count[first], first), name))
		}
		unique[j], seen[name], taken[name] = name, true, true
	}
	const most = 5
	if n := len(renamed); n > most {
		renamed = append(renamed[:most], fmt.Sprintf("… %d in all", n))
	}
	if renamed != nil {
		remarks = append(remarks, "several columns of one name: "+strings.Join(renamed, ", "))
	}
	return unique, remarks
}

// another is the first of name.n, name.(n+1), … that is not taken.
func another(name string, n int, taken map[string]bool) string {
	for ; ; n++ {
		if try := name + "." + strconv.Itoa(n); !taken[try] {
			return try
		}
	}
}

// ordinal calls the n-th column of a name.
func ordinal(n int, name string) string {
	if n == 2 {
		return "the second " + name
	}
	return fmt.Sprintf("the %d. %s", n, name)
}

// few lists the first names.
func few(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, … %d in all", strings.Join(names[:most], ", "), len(names))
}
