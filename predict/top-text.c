/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top-text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "util/text.h"
#include "util/util.h"

/* Bytes of the character at @text, which util_printable() made. */
static size_t length_of(const char *text)
{
        size_t n = 1;

        while (((unsigned char)text[n] & 0xc0) == 0x80)
                n++;
        return n;
}

/* Can it be shown, and do the C library and text_width() agree on its width, so that the text after it is aligned? */
static bool is_safe(const char *character, size_t length, bool ascii)
{
        char alone[8] = "";
        mbstate_t state = { 0 };
        wchar_t c;

        if (length == 1)
                return true;
        if (ascii || length >= sizeof(alone))
                return false;
        memcpy(alone, character, length);
        return mbrtowc(&c, alone, length, &state) == length && wcwidth(c) == (int)text_width(alone);
}

char *top_text_safe(const char *text, bool ascii, char *buf, size_t size)
{
        char printable[1024];
        bool combined = true; /* the last character has a combining one, or cannot have any */
        size_t out = 0;

        util_printable(text, printable, sizeof(printable));
        for (const char *at = printable; *at && out + 5 < size;) {
                size_t length = length_of(at);
                char alone[8] = "";

                memcpy(alone, at, MIN(length, sizeof(alone) - 1));
                if (!is_safe(at, length, ascii)) {
                        buf[out++] = '?';
                        combined = false;
                } else if (text_width(alone) > 0 || !combined) {
                        memcpy(buf + out, at, length);
                        out += length;
                        combined = text_width(alone) == 0;
                }
                at += length;
        }
        buf[out] = '\0';
        return buf;
}

char *top_text_fit(const char *text, size_t columns, bool ascii, char *buf, size_t size)
{
        const char *more = ascii ? "." : "\u2026";
        bool cut = text_width(text) > columns;
        size_t room = cut ? columns - MIN(columns, (size_t)1) : columns, width, out = 0;

        while (text[out] && out + 8 < size) {
                size_t length = length_of(text + out);

                memcpy(buf + out, text + out, length);
                buf[out + length] = '\0';
                if (text_width(buf) > room)
                        break;
                out += length;
        }
        buf[out] = '\0';
        if (cut && columns > 0)
                out += (size_t)snprintf(buf + out, size - out, "%s", more);
        for (width = text_width(buf); width < columns && out + 1 < size; width++)
                buf[out++] = ' ';
        buf[out] = '\0';
        return buf;
}

char *top_text_number(double value, int columns, char *buf)
{
        int decimals = 3;

        if (isnan(value))
                return strcpy(buf, "?");
        if (value == 0)
                return strcpy(buf, "0");
        do
                snprintf(buf, 32, "%.*f", decimals, value);
        while (strlen(buf) >= (size_t)columns && decimals-- > 0);
        return buf;
}
