/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "screen-program.h"

#include <errno.h>
#include <string.h>

#include "util/util.h"

#define ANSWER_MS 8000 /* a panel may take a second to light; the program itself gives up after two */

int screen_program_start(const char *name, struct screen_program *ret)
{
        char *const arguments[] = { (char *)name, NULL };
        struct screen_program screen = { 0 };
        char line[64];
        int err = program_start(arguments, &screen.program);

        if (err)
                return err;
        err = program_hear(&screen.program, ANSWER_MS, line, sizeof(line));
        if (err || sscanf(line, "screen %15[a-z0-9]", screen.what) != 1) {
                program_end(&screen.program);
                return err == -ETIMEDOUT ? err : -ENODEV;
        }
        screen.white = strstr(line, " white") != NULL;
        screen.can_switch = strstr(line, " switch") != NULL;
        *ret = screen;
        return 0;
}

int screen_program_show(struct screen_program *screen, const char *word)
{
        char answer[256];
        int err = program_say(&screen->program, word);

        if (!err)
                err = program_hear(&screen->program, ANSWER_MS, answer, sizeof(answer));
        if (err) {
                screen_program_end(screen);
                return -EPIPE;
        }
        if (strcmp(answer, word) == 0)
                return 0;
        screen->can_switch = screen->can_switch && strcmp(word, "off") != 0;
        return -EOPNOTSUPP;
}

void screen_program_end(struct screen_program *screen)
{
        program_end(&screen->program);
}
