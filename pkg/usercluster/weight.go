package usercluster

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"
)

// What an answer has in memory once it is decoded, about, and from above: `{},` has three bytes, and a Pod more than a thousand.
const (
	// maxWeight is what one answer may weigh, smallWeight what is decoded without waiting for a turn, maxEventWeight what an event
	// of a watch may weigh, and maxEventsWeight all those that the watches of a cluster are in the middle of.
	maxWeight       = 10 << 20
	smallWeight     = 1 << 20
	maxEventWeight  = 4 << 20
	maxEventsWeight = 8 << 20

	weightOfObject  = 2048 // of a list
	weightOfElement = 512
	weightOfField   = 320 // that is a map or an object
	weightOfList    = 64
	weightOfValue   = 48
	weightOfByte    = 2
)

// jsonScale weighs JSON as it arrives. Whether the JSON is right is for the decoder to say.
type jsonScale struct {
	weight           int64
	depth            int
	inText, escaping bool
	// ofField says that the next value is that of a field.
	ofField bool
}

// add says whether the byte ends a value that is in no other.
func (s *jsonScale) add(b byte) (ended bool) {
	s.weight += weightOfByte
	if s.inText {
		s.inText, s.escaping = s.escaping || b != '"', !s.escaping && b == '\\'
		return false
	}
	switch b {
	case '"':
		s.inText, s.ofField = true, false
	case ':':
		s.ofField = true
	case ',':
		s.weight, s.ofField = s.weight+weightOfValue, false
	case '{', '[':
		s.open(b)
	case '}', ']':
		s.depth = max(s.depth-1, 0)
		return s.depth == 0
	}
	return false
}

func (s *jsonScale) open(b byte) {
	switch {
	case b == '[':
		s.weight += weightOfList
	case s.ofField:
		s.weight += weightOfField
	case s.depth == 2:
		s.weight += weightOfObject
	default:
		s.weight += weightOfElement
	}
	s.depth, s.ofField = s.depth+1, false
}

// isProtobuf goes by what such answers begin with.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding
func isProtobuf(answer []byte) bool { return bytes.HasPrefix(answer, []byte("k8s\x00")) }

// weighProtobuf takes all that looks like a message for one. What is in a message once costs little beyond the message itself;
// what is there again is an element.
func weighProtobuf(message []byte, depth int) (weight int64) {
	const deepest = 12
	weight = weightOfByte * int64(len(message))
	if depth > deepest {
		return weight + weightOfElement*int64(len(message))/2
	}
	seen := map[protowire.Number]bool{}
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return weight
		}
		message = message[n:]
		if n = protowire.ConsumeFieldValue(number, kind, message); n < 0 {
			return weight
		}
		if kind == protowire.BytesType {
			inner, _ := protowire.ConsumeBytes(message)
			weight += weighProtobuf(inner, depth+1)
		}
		switch {
		case !seen[number]:
			weight += weightOfValue
		case depth == 1:
			weight += weightOfObject
		default:
			weight += weightOfElement
		}
		seen[number] = true
		message = message[n:]
	}
	return weight
}
