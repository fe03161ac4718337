/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The display: brightness by the backlight class (Documentation/ABI/stable/sysfs-class-backlight), the same backlight
 * that the samples show (lib/display.c). Never 0, which some panels take for off and others for their dimmest.
 */

#include "display.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "display-part.h"
#include "logind.h"
#include "usage.h"
#include "util.h"

#define BACKLIGHT "/sys/class/backlight"
#define POWER_ON "0"  /* FB_BLANK_UNBLANK */
#define POWER_OFF "4" /* FB_BLANK_POWERDOWN */

struct display {
        struct part part; /* first */
        int root_fd;
        const struct log *log;
        char backlight[64];        /* "": no backlight */
        uint32_t max_brightness;
        char brightness[128], power[128]; /* names of settings; "": there is none */
        struct settings *settings; /* between prepare() and stop() */
        uint32_t held;             /* what the driver made of what was asked; BRIGHTNESS_UNKNOWN: nothing is */
};

static struct display *display_of(struct part *part)
{
        return (struct display *)part;
}

static int read_number(const struct display *display, const char *name, uint32_t *ret)
{
        char text[32];
        uint64_t number;
        ssize_t n = util_read_at(display->root_fd, name + 1, text, sizeof(text));
        int err = n < 0 ? (int)n : util_parse_u64(text, &number);

        if (err)
                return err;
        if (number > UINT32_MAX)
                return -ERANGE;
        *ret = (uint32_t)number;
        return 0;
}

static int describe(struct part *part, struct hardware_description *description)
{
        description->max_brightness = display_of(part)->max_brightness;
        return 0;
}

/* Only root may write bl_power; without it the brightness alone is held. */
static int prepare(struct part *part, struct settings *settings)
{
        struct display *display = display_of(part);
        int err = settings_add(settings, display->brightness);

        if (err) {
                log_error(display->log, "%s: its brightness cannot be held: %s", display->brightness, strerror(-err));
                return err;
        }
        snprintf(display->power, sizeof(display->power), BACKLIGHT "/%s/bl_power", display->backlight);
        if (faccessat(display->root_fd, display->power + 1, W_OK, AT_EACCESS) < 0 || settings_add(settings, display->power) < 0)
                display->power[0] = '\0';
        display->settings = settings;
        return 0;
}

static int write_as_user(struct display *display, const char *text, uint32_t brightness)
{
        int err = settings_before(display->settings, display->brightness, text);

        if (!err)
                err = logind_set_brightness(display->backlight, brightness);
        return err ? err : settings_after(display->settings, display->brightness);
}

/* The driver may round: what it says afterwards is what is held, and what the samples show. */
static int hold_brightness(struct display *display, uint32_t brightness)
{
        char text[16];
        int err;

        snprintf(text, sizeof(text), "%u", MIN(MAX(brightness, 1), display->max_brightness));
        err = settings_write(display->settings, display->brightness, text);
        if (err == -EACCES && geteuid() != 0)
                err = write_as_user(display, text, MIN(MAX(brightness, 1), display->max_brightness));
        if (!err)
                err = read_number(display, display->brightness, &display->held);
        if (!err && display->held == 0)
                err = -EIO;
        if (err)
                log_error(display->log, "%s: cannot be set to %s: %s", display->brightness, text,
                          err == -EIO ? "the driver does not keep it" : strerror(-err));
        return err;
}

static int switch_power(struct display *display, bool on)
{
        int err = display->power[0] ? settings_write(display->settings, display->power, on ? POWER_ON : POWER_OFF) : 0;

        if (err)
                log_error(display->log, "%s: the screen cannot be switched %s: %s", display->power, on ? "on" : "off",
                          strerror(-err));
        return err;
}

static int apply(struct part *part, const struct mode *mode)
{
        struct display *display = display_of(part);
        int err;

        if (mode->screen_on) {
                err = hold_brightness(display, mode->brightness);
                return err ? err : switch_power(display, true);
        }
        display->held = BRIGHTNESS_UNKNOWN;
        return switch_power(display, false);
}

/* Somebody at the keys, or a program that follows the light of the room. The samples know how long it was another. */
static int check(struct part *part)
{
        struct display *display = display_of(part);
        uint32_t now, held = display->held;
        int err;

        if (held == BRIGHTNESS_UNKNOWN)
                return 0;
        err = read_number(display, display->brightness, &now);
        if (err) {
                log_error(display->log, "%s: cannot be read any more: %s", display->brightness, strerror(-err));
                return err;
        }
        if (now == held)
                return 0;
        log_warning(display->log, "somebody changed the brightness from %u to %u; it is held at %u again", held, now, held);
        return hold_brightness(display, held);
}

static void stop(struct part *part)
{
        struct display *display = display_of(part);

        display->held = BRIGHTNESS_UNKNOWN;
        display->settings = NULL;
}

static void close_display(struct part *part)
{
        stop(part);
        closep(&display_of(part)->root_fd);
        free(part);
}

static const struct part_ops display_ops = {
        .name = "display",
        .describe = describe,
        .prepare = prepare,
        .apply = apply,
        .check = check,
        .stop = stop,
        .close = close_display,
};

int display_part_open(int root_fd, const struct machine_hardware *machine, struct part **ret)
{
        struct display_state state;
        struct display *display;
        int err = display_look(root_fd, &state);

        if (!err && !state.backlight[0])
                err = -ENODEV;
        if (err)
                return err;
        display = calloc(1, sizeof(*display));
        if (!display)
                return -ENOMEM;
        display->part.ops = &display_ops;
        display->log = machine->log;
        display->held = BRIGHTNESS_UNKNOWN;
        display->max_brightness = state.max_brightness;
        snprintf(display->backlight, sizeof(display->backlight), "%s", state.backlight);
        snprintf(display->brightness, sizeof(display->brightness), BACKLIGHT "/%s/brightness", state.backlight);
        display->root_fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 3);
        if (display->root_fd < 0) {
                err = -errno;
                free(display);
                return err;
        }
        *ret = &display->part;
        return 0;
}

int part_display_open(const struct machine_hardware *machine, struct part **ret)
{
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return root_fd < 0 ? -errno : display_part_open(root_fd, machine, ret);
}
