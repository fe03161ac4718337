/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Calibration's dealings with logind, one per command; each runs until the end of its input:
 *
 *     seat-driver brightness JOURNAL LEVEL    holds the backlight of this machine, and restores it
 *     seat-driver inhibit                     keeps the machine awake
 *     seat-driver guard TREE                  prints when somebody uses the machine; reads "later": a minute has
 *                                             passed; "change": the calibration changes something now
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "hardware/display-part.h"
#include "hold/guard.h"
#include "hold/logind.h"
#include "util/units.h"
#include "util/util.h"

static char name[] = "seat-driver";
static const struct log to_stderr = { .handler = log_to_stderr, .data = name };

static int say(int err, const char *word)
{
        if (err)
                printf("failed %s\n", strerror(-err));
        else
                puts(word);
        fflush(stdout);
        return err;
}

static void wait_end(void)
{
        while (getchar() != EOF)
                ;
}

static int hold(struct settings *settings, struct part *part, const char *level)
{
        struct mode mode = { .name = "display", .screen_on = true };
        uint64_t brightness = 0;
        int err = util_parse_u64(level, &brightness), end;

        mode.brightness = (uint32_t)brightness;
        if (!err)
                err = part->ops->prepare(part, settings);
        if (!err)
                err = settings_commit(settings);
        if (!err)
                err = settings_begin_changes(settings);
        if (!err)
                err = part->ops->apply(part, &mode);
        end = settings_end_changes(settings);
        return err ? err : end;
}

static int brightness(const char *journal, const char *level)
{
        const struct machine_hardware machine = { .journal = journal, .log = &to_stderr };
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct restore_report report = { 0 };
        struct settings *settings = NULL;
        struct part *part = NULL;
        int err = display_part_open(root_fd, NULL, &machine, &part);

        if (!err)
                err = settings_open(root_fd, journal, &to_stderr, &settings);
        if (err)
                return say(err, "");
        say(hold(settings, part, level), "held");
        wait_end();
        part->ops->close(part);
        settings_close(settings);
        err = settings_restore(root_fd, journal, &to_stderr, &report);
        return say(err ? err : report.failed ? -EIO : 0, report.restored ? "put back" : "nothing to put back");
}

static int inhibit(void)
{
        int fd = logind_inhibit("A test of the desktop suite");

        say(fd < 0 ? fd : 0, "inhibits");
        wait_end();
        closep(&fd);
        return 0;
}

static uint64_t now_ns(void)
{
        struct timespec now;

        clock_gettime(CLOCK_BOOTTIME, &now);
        return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static int watch(const char *tree)
{
        _cleanup_close_ int root_fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct sample sample = {
                .have = SAMPLE_BATTERY,
                .battery = { .have = BATTERY_CAPACITY,
                             .status = BATTERY_DISCHARGING,
                             .capacity_percent = 80 },
        };
        char reason[64], line[32], told[64] = "?";
        struct guard *guard = NULL;
        int err = guard_open(root_fd, false, &to_stderr, &guard);

        if (err)
                return say(err, "");
        guard_watch_sessions(guard);
        for (;;) {
                struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

                sample.boottime_ns = now_ns();
                if (poll(&input, 1, 50) > 0) {
                        if (!fgets(line, sizeof(line), stdin))
                                break;
                        if (!strcmp(line, "later\n"))
                                sample.boottime_ns += 61 * NS_PER_S;
                        guard_before_change(strcmp(line, "change\n") ? NULL : guard);
                        guard_after_change(strcmp(line, "change\n") ? NULL : guard, true);
                }
                if (guard_judge(guard, &sample, reason, sizeof(reason)) == 0)
                        strcpy(reason, "goes on");
                if (strcmp(reason, told) != 0)
                        say(0, reason);
                strcpy(told, reason);
        }
        guard_close(guard);
        return 0;
}

int main(int argc, char **argv)
{
        if (argc == 4 && !strcmp(argv[1], "brightness"))
                return brightness(argv[2], argv[3]) ? 1 : 0;
        if (argc == 2 && !strcmp(argv[1], "inhibit"))
                return inhibit() ? 1 : 0;
        if (argc == 3 && !strcmp(argv[1], "guard"))
                return watch(argv[2]) ? 1 : 0;
        return 2;
}
