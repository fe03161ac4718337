/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Folded stacks, as written by stackcollapse-perf, inferno or `joulecast record`: one stack a line, from the
 * root to the leaf, with ';' between the frames, and its count after the last blank or tab. Lines often begin like
 * the one before: equal frames are not looked up again, which is most of the speed.
 */

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "read.h"
#include "util/util.h"

/* Folded lines are different stacks, and no program has so many. */
#define LINES_MAX 5000000
#define LINE_MAX_BYTES ((size_t)1 << 20)

struct folded {
        size_t lines, stacks, doubled; /* @doubled: stacks with another number before the count */
        char *before; /* the previous line's stack */
        size_t length, capacity;
        struct known {
                size_t end; /* where a frame ends in @before */
                int32_t node;
        } known[STACKS_DEPTH_MAX];
        size_t n_known;
};

int folded_new(struct folded **ret)
{
        struct folded *folded = calloc(1, sizeof(*folded));

        if (!folded)
                return -ENOMEM;
        *ret = folded;
        return 0;
}

void folded_freep(struct folded **folded)
{
        if (*folded)
                free((*folded)->before);
        free(*folded);
}

static size_t common_length(const char *a, const char *b, size_t most)
{
        size_t n = 0;
        uint64_t x, y;

        for (; n + 8 <= most; n += 8) {
                memcpy(&x, a + n, 8);
                memcpy(&y, b + n, 8);
                if (x != y)
                        break;
        }
        while (n < most && a[n] == b[n])
                n++;
        return n;
}

/* Forgets the frames that this stack does not begin with. */
static void keep_common(struct folded *folded, const char *stack, size_t length)
{
        size_t common = common_length(folded->before, stack, MIN(folded->length, length));

        while (folded->n_known > 0) {
                size_t end = folded->known[folded->n_known - 1].end;

                if (end <= common && (end == length || stack[end] == ';'))
                        break;
                folded->n_known--;
        }
}

static int add_frames(struct read *read, struct folded *folded, const char *stack, size_t length)
{
        size_t at = folded->n_known ? folded->known[folded->n_known - 1].end + 1 : 0;
        int32_t node = folded->n_known ? folded->known[folded->n_known - 1].node : 0;

        for (; at <= length; at = folded->known[folded->n_known - 1].end + 1) {
                const char *end = memchr(stack + at, ';', length - at);
                size_t size = (end ? (size_t)(end - stack) : length) - at;

                if (folded->n_known >= STACKS_DEPTH_MAX)
                        return read_damaged(read, folded->lines, "the stack has more than 4096 frames");
                node = stacks_child(read->stacks, node, stack + at, size);
                if (node < 0)
                        return read_failed(read, node);
                folded->known[folded->n_known++] = (struct known){ at + size, node };
        }
        return 0;
}

static int parse_count(const char *text, size_t length, double *ret)
{
        char number[64];
        uint64_t whole = 0;
        size_t i;

        for (i = 0; i < length && i < 15 && text[i] >= '0' && text[i] <= '9'; i++)
                whole = whole * 10 + (uint64_t)(text[i] - '0');
        if (i == length && length > 0) {
                *ret = (double)whole;
                return 0;
        }
        if (length == 0 || length >= sizeof(number))
                return -EINVAL;
        memcpy(number, text, length);
        number[length] = '\0';
        return util_parse_double(number, ret) == 0 && *ret >= 0 && *ret <= 0x1p53 ? 0 : -EINVAL;
}

static int keep_line(struct folded *folded, const char *stack, size_t length, size_t from)
{
        if (length > folded->capacity && util_grow(&folded->before, &folded->capacity, length, 1) < 0)
                return -ENOMEM;
        memcpy(folded->before + from, stack + from, length - from);
        folded->length = length;
        return 0;
}

static bool is_blank(char c)
{
        return c == ' ' || c == '\t';
}

/* Does the stack end in a number, as where difffolded.pl wrote two counts? */
static bool has_number(const char *line, size_t length)
{
        size_t at = length;

        while (at > 0 && isdigit((unsigned char)line[at - 1]))
                at--;
        return at > 0 && at < length && is_blank(line[at - 1]);
}

static int parse_line(struct read *read, struct folded *folded, const char *line, size_t length)
{
        const char *blank;
        size_t stack, from;
        double count;
        int err;

        while (length > 0 && (line[length - 1] == '\r' || is_blank(line[length - 1])))
                length--;
        if (length == 0 || (length > 1 && memcmp(line, "# ", 2) == 0)) /* a comment, as austin writes them */
                return 0;
        for (blank = line + length - 1; blank > line && !is_blank(*blank); blank--)
                ;
        if (!is_blank(*blank) || parse_count(blank + 1, length - (size_t)(blank + 1 - line), &count) < 0)
                return read_damaged(read, folded->lines, "it does not end in a blank or tab and a count, a "
                                                         "number from 0 to 2^53");
        stack = (size_t)(blank - line);
        while (stack > 0 && is_blank(line[stack - 1]))
                stack--;
        if (stack == 0)
                return read_damaged(read, folded->lines, "there is no stack before the count");
        folded->stacks++;
        folded->doubled += has_number(line, stack);
        keep_common(folded, line, stack);
        from = folded->n_known ? MIN(folded->known[folded->n_known - 1].end, folded->length) : 0;
        err = add_frames(read, folded, line, stack);
        if (err == 0)
                err = keep_line(folded, line, stack, from);
        if (err < 0)
                return err;
        return read_failed(read, stacks_add(read->stacks, folded->known[folded->n_known - 1].node, count));
}

int folded_parse(struct read *read, struct folded *folded, const char *text, size_t length)
{
        const char *end = text + length;

        read->unit = "samples";
        if (folded->lines == 0 && length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
                text += 3;
        while (text < end) {
                const char *line_end = memchr(text, '\n', (size_t)(end - text));
                size_t size = (size_t)((line_end ? line_end : end) - text);
                int err;

                if (++folded->lines > LINES_MAX)
                        return read_damaged(read, folded->lines,
                                            "folded stacks have at most 5 million lines; sum up equal stacks");
                if (size > LINE_MAX_BYTES)
                        return read_damaged(read, folded->lines, "the line is longer than 1 MiB");
                if (!read_is_text(text, size))
                        return read_damaged(read, folded->lines,
                                            "it is not UTF-8; unpack it, or convert it to folded stacks");
                err = parse_line(read, folded, text, size);
                if (err < 0)
                        return err;
                text += size + 1;
        }
        return 0;
}

int folded_end(struct read *read, const struct folded *folded)
{
        if (folded->stacks > 0 && folded->doubled == folded->stacks)
                return read_damaged(read, 0,
                                    "each stack has two counts, as difffolded.pl writes them; give the two files "
                                    "that it was made of");
        return 0;
}
