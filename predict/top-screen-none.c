/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "top-screen.h"

int top_screen_open(const struct log *log)
{
        log_error(log, "this joulecast was built without ncurses; joulecast top --batch N prints the same rows");
        return -ENODEV;
}

void top_screen_close(void) {}

void top_screen_size(size_t *columns, size_t *lines)
{
        *columns = *lines = 0;
}

void top_screen_draw(const struct top_view *view) {}

unsigned top_screen_key(void)
{
        return TOP_KEY_NONE;
}

void top_screen_renew(void) {}

void top_screen_stop(int stop) {}
