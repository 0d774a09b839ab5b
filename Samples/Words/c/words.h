/// How many words a text holds: runs of characters that are no spaces.
int words_count(const char *text);
