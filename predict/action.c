/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "action.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "program.h"
#include "source/display.h"
#include "util/util.h"

static int __attribute__((format(printf, 2, 3))) say(char **ret, const char *format, ...)
{
        va_list arguments;
        int length;

        va_start(arguments, format);
        length = vasprintf(ret, format, arguments);
        va_end(arguments);
        if (length < 0)
                *ret = NULL;
        return length < 0 ? -ENOMEM : 0;
}

/* By logind, which lets the user of an active session do so. */
static int by_logind(double percent, const char *busctl, char **ret)
{
        _cleanup_close_ int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        struct display_state display;

        if (root_fd < 0 || display_look(root_fd, &display) < 0 || !*display.backlight || display.max_brightness == 0 ||
            !util_only_has(display.backlight, "-_.:"))
                return 0;
        return say(ret, "%s call org.freedesktop.login1 /org/freedesktop/login1/session/auto "
                        "org.freedesktop.login1.Session SetBrightness ssu backlight %s %.0f", busctl, display.backlight,
                   round(display.max_brightness * percent / 100));
}

static int set_brightness(double percent, char **ret)
{
        char called[PATH_MAX];

        if (program_find("brightnessctl", called, sizeof(called)))
                return say(ret, "%s set %.0f%%", called, percent);
        return program_find("busctl", called, sizeof(called)) ? by_logind(percent, called, ret) : 0;
}

static int switch_off(const char *for_nmcli, const char *for_rfkill, char **ret)
{
        char called[PATH_MAX];

        if (program_find("nmcli", called, sizeof(called)))
                return say(ret, "%s radio %s off", called, for_nmcli);
        return program_find("rfkill", called, sizeof(called)) ? say(ret, "%s block %s", called, for_rfkill) : 0;
}

/* Returns no command if the app has too many processes for a line to type. */
static int close_app(const struct user_apps *apps, const char *app, char **ret)
{
        struct program_words words = { .n = 0 };
        int err = user_apps_close(apps, app, &words);

        if (err == 0 && words.n > 0) {
                *ret = program_words_line(&words);
                err = *ret ? 0 : -ENOMEM;
        }
        program_words_clear(&words);
        return err;
}

int action_find(const struct user_apps *apps, const struct advice *advice, char **ret)
{
        *ret = NULL;
        switch (advice->kind) {
        case ADVICE_CLOSE:
                return close_app(apps, advice->app, ret);
        case ADVICE_BRIGHTNESS:
                return set_brightness(advice->brightness_percent, ret);
        case ADVICE_WIFI:
                return switch_off("wifi", "wifi", ret);
        case ADVICE_CELLULAR:
                return switch_off("wwan", "wwan", ret);
        default:
                return -ENOENT;
        }
}
