/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The display as a part: brightness by its backlight, its picture or off by joulecast-picture. If that cannot
 * switch the screen, only the backlight is switched; if neither can, the dimmest level stays on.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "display-part.h"
#include "hold/screen-program.h"
#include "hold/settings.h"
#include "model/usage.h"
#include "source/display.h"
#include "util/util.h"

#define POWER "screen:power"
#define STARTS_MAX 5 /* starts of the program in one calibration, before it is given up */

/* The panel's backlight: brightness, and on or off. */

struct backlight {
        int root_fd;                /* the caller's */
        const struct log *log;
        uint32_t max;               /* 0: this machine has none */
        char brightness[128];       /* names of settings */
        char power[128];            /* "": cannot be switched */
        struct settings *settings;
        uint32_t held;              /* as the driver rounded it; BRIGHTNESS_UNKNOWN: nothing is held */
        bool off;
        bool told;                  /* logged that somebody else sets it, too */
};

/*
 * Documentation/ABI/stable/sysfs-class-backlight. The same backlight as in the samples
 * (lib/source/display.c). Brightness 0 is never set: on some panels it means off.
 */

#define CLASS "/sys/class/backlight"
#define POWER_ON "0"  /* FB_BLANK_UNBLANK */
#define POWER_OFF "4" /* FB_BLANK_POWERDOWN */

static void backlight_init(struct backlight *backlight, int root_fd, const struct display_state *state,
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
static int backlight_prepare(struct backlight *backlight, struct settings *settings)
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

/* -EOPNOTSUPP: cannot be switched. */
static int backlight_switch(struct backlight *backlight, bool on)
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

/*
 * Switches it on, at 1 to the maximum. Errors are logged. The driver may round: the value that it shows afterwards is
 * held, and the samples have it.
 */
static int backlight_hold(struct backlight *backlight, uint32_t brightness)
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

/*
 * Is it still at the held brightness? If not, sets it again. Somebody, or a program that follows the ambient light, may
 * change it. The samples know for how long.
 */
static int backlight_check(struct backlight *backlight)
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

/* Holds nothing any more. */
static void backlight_let_go(struct backlight *backlight)
{
        backlight->held = BRIGHTNESS_UNKNOWN;
}

struct display {
        struct part part; /* first */
        int root_fd;
        const struct log *log;
        struct backlight backlight;
        const char *program;          /* NULL: not used */
        struct screen_program screen;
        unsigned starts;
        struct settings *settings;    /* between prepare() and stop() */
        bool journalled;              /* the screen was lit and will be lit again */
        const char *shown;            /* the mode's picture: "on" (white), "grey", "black", "off"; NULL: no mode */
        bool told_dim, told_white, told_picture, told_state;
};

static struct display *display_of(struct part *part)
{
        return (struct display *)part;
}

static int describe(struct part *part, struct hardware_description *description)
{
        const struct display *display = display_of(part);

        description->max_brightness = display->backlight.max;
        description->pictures = display->backlight.max > 0 && display->program;
        return 0;
}

/* A screen that was dark may stay dark; one that was lit must be lit again, whoever is killed. */
static int prepare(struct part *part, struct settings *settings)
{
        struct display *display = display_of(part);
        struct display_state state;

        display->settings = settings;
        display->starts = 0;
        display->journalled = display->program && display_look(display->root_fd, &state) == 0 &&
                              state.screen_known && display_is_lit(&state) && settings_add(settings, POWER) == 0;
        return backlight_prepare(&display->backlight, settings);
}

static void start_program(struct display *display)
{
        if (!display->program || display->screen.program.pid || display->starts >= STARTS_MAX)
                return;
        display->starts++;
        if (screen_program_start(display->program, &display->screen) < 0)
                display->starts = STARTS_MAX;
        if (display->screen.white || display->told_white || !display->backlight.max)
                return;
        display->told_white = true;
        log_info(display->log,
                 "no white picture can be shown on this screen: only brightness is varied");
}

/* Compares the program's state with the kernel's, because the fit uses the kernel's. */
static void compare(struct display *display, bool on)
{
        struct display_state state;

        if (display->told_state || display_look(display->root_fd, &state) < 0 || !state.screen_known ||
            display_is_lit(&state) == on)
                return;
        display->told_state = true;
        log_warning(display->log,
                    "the screen was switched %s, but the kernel shows it %s; the kernel's state is used",
                    on ? "on" : "off", on ? "off" : "on");
}

static bool is_on(const char *word)
{
        return strcmp(word, "off") != 0;
}

static int show(struct display *display, const char *word)
{
        bool journal, on = is_on(word);
        int err, after = 0;

        start_program(display);
        if (!display->screen.program.pid)
                return -EOPNOTSUPP;
        journal = display->journalled && display->screen.can_switch;
        err = journal ? settings_before(display->settings, POWER, on ? "on" : "off") : 0;
        if (err)
                return err;
        err = screen_program_show(&display->screen, word);
        if (journal)
                after = settings_after(display->settings, POWER);
        if (!err && (on || display->screen.can_switch))
                compare(display, on);
        return err ? err : after ? after : on || display->screen.can_switch ? 0 : -EOPNOTSUPP;
}

/* White falls back to a lit screen; a black or grey picture that cannot be shown must not be measured. */
static int switch_on(struct display *display, uint32_t brightness)
{
        bool white = strcmp(display->shown, "on") == 0;
        int err = display->backlight.max ? backlight_hold(&display->backlight, brightness) : 0;

        if (!err)
                err = show(display, display->shown);
        if (white)
                return err == -EOPNOTSUPP || err == -EPIPE ? 0 : err;
        if (err == -EOPNOTSUPP && !display->told_picture) {
                log_info(display->log, "no black picture can be shown on this screen: how much of its power depends "
                                       "on the picture stays unknown");
                display->told_picture = true;
        }
        return err;
}

static int switch_off(struct display *display)
{
        int err = show(display, "off");

        backlight_let_go(&display->backlight);
        if (err != -EOPNOTSUPP && err != -EPIPE)
                return err;
        err = backlight_switch(&display->backlight, false);
        if (err != -EOPNOTSUPP)
                return err;
        if (!display->told_dim)
                log_warning(display->log,
                            "the screen cannot be switched off: its power at the lowest brightness becomes "
                            "part of the base");
        display->told_dim = true;
        return display->backlight.max ? backlight_hold(&display->backlight, 1) : 0;
}

static int apply(struct part *part, const struct mode *mode)
{
        struct display *display = display_of(part);

        display->shown = !mode->screen_on ? "off" : mode->dark >= 1 ? "black" : mode->dark > 0 ? "grey" : "on";
        return mode->screen_on ? switch_on(display, mode->brightness) : switch_off(display);
}

/* Somebody switched consoles or ended the program: start it again. */
static int check(struct part *part)
{
        struct display *display = display_of(part);
        int err = backlight_check(&display->backlight);

        if (err || !display->shown || !display->screen.program.pid ||
            program_lives(&display->screen.program))
                return err;
        screen_program_end(&display->screen);
        log_warning(display->log, "the screen was lost; taking it again");
        return is_on(display->shown) ? switch_on(display, display->backlight.held) : switch_off(display);
}

static void stop(struct part *part)
{
        struct display *display = display_of(part);

        screen_program_end(&display->screen);
        display->screen = (struct screen_program){ 0 };
        backlight_let_go(&display->backlight);
        display->settings = display->backlight.settings = NULL;
        display->shown = NULL;
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

int display_part_open(int root_fd, const char *program, const struct machine_hardware *machine,
                      struct part **ret)
{
        struct display_state state;
        struct display *display;
        int err = display_look(root_fd, &state);

        if (err)
                return err;
        display = calloc(1, sizeof(*display));
        if (!display)
                return -ENOMEM;
        display->part.ops = &display_ops;
        display->log = machine->log;
        display->program = program;
        display->root_fd = fcntl(root_fd, F_DUPFD_CLOEXEC, 3);
        if (display->root_fd < 0) {
                err = -errno;
                free(display);
                return err;
        }
        backlight_init(&display->backlight, display->root_fd, &state, machine->log);
        if (state.backlight[0] && !state.certain)
                log_warning(machine->log, "the display is left out: it is not certain which backlight is the built-in "
                                          "screen's; `joulecast doctor` says why, and backlight = NAME in "
                                          "joulecast.conf chooses");
        *ret = &display->part;
        return 0;
}

int hardware_display_open(const struct machine_hardware *machine, struct part **ret)
{
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return root_fd < 0 ? -errno : display_part_open(root_fd, "joulecast-picture", machine, ret);
}
