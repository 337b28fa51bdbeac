package fleet

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// limit is a number of Clusters or a percentage of them. One that cannot be read allows nothing.
type limit struct{ *intstr.IntOrString }

func (l limit) check() error {
	switch {
	case l.IntOrString == nil:
		return nil
	case l.Type == intstr.Int && l.IntVal >= 0:
		return nil
	case l.Type == intstr.String && l.percent() >= 0:
		return nil
	}
	return fmt.Errorf("%s is neither a number from 0 nor a percentage from 0%% to 100%%", l.String())
}

// of is the limit in a group of total; percentages are rounded up or down.
func (l limit) of(total int, up bool, otherwise string) int {
	field := intstr.Parse(otherwise)
	if l.IntOrString != nil {
		field = *l.IntOrString
	}
	if field.Type == intstr.Int {
		return max(0, int(field.IntVal))
	}
	percent := max(0, limit{&field}.percent())
	if up {
		return (total*percent + 99) / 100
	}
	return total * percent / 100
}

// percent is -1 for what is none from 0% to 100%.
func (l limit) percent() int {
	text, is := strings.CutSuffix(l.StrVal, "%")
	percent, err := strconv.Atoi(text)
	if !is || err != nil || percent < 0 || percent > 100 || strconv.Itoa(percent) != text {
		return -1
	}
	return percent
}

// isZero says that a limit is 0 or 0%, and not only rounded to it.
func (l limit) isZero() bool {
	return l.IntOrString != nil && (l.Type == intstr.Int && l.IntVal == 0 || l.Type == intstr.String && l.StrVal == "0%")
}
