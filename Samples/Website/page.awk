# Puts a text into a layout: its first line is the title, blank lines separate paragraphs.

function escaped(text) {
  gsub(/&/, "\\&amp;", text)
  gsub(/</, "\\&lt;", text)
  return text
}

function fill(placeholder, text,    start) {
  while ((start = index(layout, placeholder)))
    layout = substr(layout, 1, start - 1) text substr(layout, start + length(placeholder))
}

FNR == NR { layout = layout $0 "\n"; next }
FNR == 1 && !/^# / {
  error = "\033[1;31merror:\033[0m the first line must be '# ' and a title"
  print FILENAME ":1:1: " error >"/dev/stderr"
  failed = 1
  exit 1
}
FNR == 1 { title = escaped(substr($0, 3)); next }
/^$/ { paragraph = ""; next }
{
  content = content (paragraph ? " " : (content ? "</p>\n<p>" : "<p>")) escaped($0)
  paragraph = 1
}

END {
  if (failed) exit 1
  fill("{content}", content "</p>")
  fill("{title}", title)
  printf "%s", layout
}
