/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Documentation/ABI/stable/sysfs-class-backlight. The same backlight as in the samples
 * (lib/source/display.c). Brightness 0 is never set: on some panels it means off.
 */

#include "backlight.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "model/usage.h"
#include "util/util.h"

#define CLASS "/sys/class/backlight"
#define POWER_ON "0"  /* FB_BLANK_UNBLANK */
#define POWER_OFF "4" /* FB_BLANK_POWERDOWN */

void backlight_init(struct backlight *backlight, int root_fd, const struct display_state *state,
                    const struct log *log)
{
        *backlight = (struct backlight){ .root_fd = root_fd, .log = log, .held = BRIGHTNESS_UNKNOWN };
        if (!state->backlight[0] || !state->certain)
                return;
        backlight->max = state->max_brightness;
        snprintf(backlight->brightness, sizeof(backlight->brightness), CLASS "/%s/brightness",
                 state->backlight);
        snprintf(backlight->power, sizeof(backlight->power), CLASS "/%s/bl_power", state->backlight);
}

/* Only root may write bl_power; logind cannot. */
int backlight_prepare(struct backlight *backlight, struct settings *settings)
{
        int err;

        if (!backlight->max)
                return 0;
        err = settings_add(settings, backlight->brightness);
        if (err) {
                log_error(backlight->log, "%s: cannot be held: %s", backlight->brightness, strerror(-err));
                return err;
        }
        if (faccessat(backlight->root_fd, backlight->power + 1, W_OK, AT_EACCESS) < 0 ||
            settings_add(settings, backlight->power) < 0)
                backlight->power[0] = '\0';
        backlight->settings = settings;
        return 0;
}

static int read_brightness(const struct backlight *backlight, uint32_t *ret)
{
        char text[32];
        uint64_t number;
        ssize_t n = util_read_at(backlight->root_fd, backlight->brightness + 1, text, sizeof(text));
        int err = n < 0 ? (int)n : util_parse_u64(text, &number);

        if (err)
                return err;
        if (number > UINT32_MAX)
                return -ERANGE;
        *ret = (uint32_t)number;
        return 0;
}

/* The driver may round: the value that it shows afterwards is held, and the samples have it. */
int backlight_hold(struct backlight *backlight, uint32_t brightness)
{
        char text[16];
        int err;

        snprintf(text, sizeof(text), "%u", MIN(MAX(brightness, 1u), backlight->max));
        err = settings_write(backlight->settings, backlight->brightness, text);
        if (!err)
                err = read_brightness(backlight, &backlight->held);
        if (!err && backlight->held == 0)
                err = -EIO;
        if (err)
                log_error(backlight->log, "%s: cannot be set to %s: %s", backlight->brightness, text,
                          err == -EIO ? "the driver does not keep the value" : strerror(-err));
        return err || !backlight->off ? err : backlight_switch(backlight, true);
}

int backlight_switch(struct backlight *backlight, bool on)
{
        int err;

        if (!backlight->settings || !backlight->power[0])
                return -EOPNOTSUPP;
        err = settings_write(backlight->settings, backlight->power, on ? POWER_ON : POWER_OFF);
        if (err)
                log_error(backlight->log, "%s: the screen cannot be switched %s: %s", backlight->power,
                          on ? "on" : "off", strerror(-err));
        else
                backlight->off = !on;
        return err;
}

/* Somebody, or a program that follows the ambient light, may change it. The samples know for how long. */
int backlight_check(struct backlight *backlight)
{
        uint32_t now, held = backlight->held;
        int err;

        if (held == BRIGHTNESS_UNKNOWN)
                return 0;
        err = read_brightness(backlight, &now);
        if (err) {
                log_error(backlight->log, "%s: cannot be read any more: %s", backlight->brightness,
                          strerror(-err));
                return err;
        }
        if (now == held)
                return 0;
        if (!backlight->told)
                log_warning(backlight->log,
                            "the brightness was changed from %u to %u by another program or the user; "
                            "setting %u again",
                            held, now, held);
        backlight->told = true;
        return backlight_hold(backlight, held);
}

void backlight_let_go(struct backlight *backlight)
{
        backlight->held = BRIGHTNESS_UNKNOWN;
}
