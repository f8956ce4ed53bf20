package page

// fontSize is the size of texts in drawings, in units of the view box.
const fontSize = 12

// advances are the widths of the letters from space to ~, in thousandths of the font's size: the larger of the widths in DejaVu
// Sans and of Liberation Sans, which are Arial's. The style sheet finds one of them, and a text needs no more room than it
// gets.
var advances = [...]int{
	318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, // space to /
	636, 636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 556, // 0 to ?
	1015, 684, 686, 722, 770, 667, 611, 778, 752, 295, 500, 667, 557, 863, 748, 787, // @ to O
	667, 787, 722, 667, 611, 732, 684, 989, 685, 667, 685, 390, 337, 390, 838, 556, // P to _
	500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, // ` to o
	635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838, // p to ~
}

// Widths of other letters: of alphabets, and of scripts whose letters are as wide as high.
const (
	otherAdvance = 850
	wideAdvance  = 1050
	wideFrom     = 0x2e80
)

// width is how wide a text is in a drawing, at most.
func width(text string) float64 {
	sum := 0
	for _, r := range text {
		switch at := int(r - ' '); {
		case at >= 0 && at < len(advances):
			sum += advances[at]
		case r < wideFrom && r != '…':
			sum += otherAdvance
		default:
			sum += wideAdvance
		}
	}
	return float64(sum) * fontSize / 1000
}

// clip is a text that is no wider than a room, with … where it is cut.
func clip(text string, room float64) string {
	if width(text) <= room {
		return text
	}
	room -= width("…")
	for i, r := range text {
		if room -= width(string(r)); room < 0 {
			return text[:i] + "…"
		}
	}
	return text
}
