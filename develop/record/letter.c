/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "letter.h"

static const unsigned long least[] = { 0, 0x80, 0x800, 0x10000 }; /* by the number of bytes that follow the first */

long letter_next(const char **text)
{
        const unsigned char *at = (const unsigned char *)*text;
        unsigned more = *at < 0x80 ? 0 : *at < 0xc0 ? 4 : *at < 0xe0 ? 1 : *at < 0xf0 ? 2 : *at < 0xf8 ? 3 : 4;
        unsigned long letter = more == 0 ? *at : *at & (0x3fu >> more);

        if (more == 4)
                return -1;
        for (unsigned i = 1; i <= more; i++) {
                if ((at[i] & 0xc0) != 0x80)
                        return -1;
                letter = letter << 6 | (at[i] & 0x3f);
        }
        *text += more + 1;
        return letter < least[more] || letter > 0x10ffff ? -1 : (long)letter;
}

void letter_write(unsigned long letter, char text[LETTER_BYTES_MAX])
{
        unsigned more = letter >= 0x10000 ? 3 : letter >= 0x800 ? 2 : letter >= 0x80 ? 1 : 0;
        static const unsigned char first[] = { 0, 0xc0, 0xe0, 0xf0 };
        unsigned n = 0;

        if (letter > 0 && letter <= 0x10ffff) {
                text[n++] = (char)(first[more] | letter >> 6 * more);
                while (more-- > 0)
                        text[n++] = (char)(0x80 | (letter >> 6 * more & 0x3f));
        }
        text[n] = '\0';
}
