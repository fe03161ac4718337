/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The service's part of the focus, alone: prints each state as a line of JSON as soon as it is stored; at a line "poll"
 * of its input, reads a sample and prints its events. The desktop tests read its output.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "focus/focus.h"
#include "session.h"
#include "util/units.h"
#include "util/util.h"

static uint64_t now_ns(void)
{
        struct timespec now;

        clock_gettime(CLOCK_BOOTTIME, &now);
        return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void print_event(const char *what, const struct screen_event *event)
{
        printf("{\"what\": \"%s\", \"known\": %s, \"app\": \"%s\", \"screen_known\": %s, \"screen_on\": %s, "
               "\"brightness\": %u, \"since_ns\": %llu, \"now_ns\": %llu}\n",
               what, event->foreground_known ? "true" : "false", event->app,
                       event->screen_known ? "true" : "false",
               event->screen_on ? "true" : "false", event->brightness, (unsigned long long)event->boottime_ns,
               (unsigned long long)now_ns());
        fflush(stdout);
}

static void print_change(const struct source *focus, struct screen_event *last)
{
        struct screen_event event;

        screen_inputs_compose(focus_now(focus), 0, &event);
        if (event.foreground_known == last->foreground_known && strcmp(event.app, last->app) == 0 &&
            event.screen_known == last->screen_known && event.screen_on == last->screen_on &&
            event.brightness == last->brightness)
                return;
        *last = event;
        print_event("state", &event);
}

static void print_sound(void *data, const pid_t *pids, size_t n, size_t others)
{
        printf("{\"what\": \"sound\", \"known\": false, \"others\": %zu, \"pids\": [", others);
        for (size_t i = 0; i < n; i++)
                printf("%s%d", i ? ", " : "", (int)pids[i]);
        printf("], \"now_ns\": %llu}\n", (unsigned long long)now_ns());
        fflush(stdout);
}

static int poll_once(struct sources *sources, struct apps *apps, struct sample *sample)
{
        sample_reset(sample);
        sample->boottime_ns = now_ns();
        for (size_t i = 0; i < sources->n; i++)
                sources->list[i]->ops->read(sources->list[i], sample);
        for (size_t i = 0; i < sample->n_events; i++)
                print_event("event", &sample->events[i]);
        print_event("poll", &sample->screen);
        apps_sweep(apps);
        return 0;
}

static int serve(struct sources *sources, struct apps *apps)
{
        struct screen_event last = { .brightness = 1 };
        struct sample sample = { 0 };
        char line[64];

        for (;;) {
                struct pollfd fds[3] = { { .fd = STDIN_FILENO, .events = POLLIN } };

                for (size_t i = 0; i < sources->n; i++)
                        fds[1 + i] = (struct pollfd){ sources->list[i]->ops->fd(sources->list[i]), POLLIN, 0 };
                if (poll(fds, 1 + sources->n, -1) < 0)
                        return 1;
                if (fds[0].revents) {
                        if (!fgets(line, sizeof(line), stdin))
                                break;
                        poll_once(sources, apps, &sample);
                }
                for (size_t i = 0; i < sources->n; i++)
                        if (fds[1 + i].revents)
                                sources->list[i]->ops->hear(sources->list[i], now_ns());
                print_change(sources->list[0], &last);
        }
        sample_clear(&sample);
        return 0;
}

int main(int argc, char **argv)
{
        const struct log log = { .handler = log_to_stderr, .data = (void *)(uintptr_t) "focus-service" };
        _cleanup_close_ int root_fd = open(argc > 2 ? argv[2] : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct sources sources = { 0 };
        struct source *source = NULL;
        struct apps *apps = NULL;
        int code;

        if (argc < 2 || root_fd < 0 || apps_new(root_fd, NULL, &apps) < 0)
                return 2;
        const struct focus_options options = {
                .root_fd = root_fd, .socket_path = argv[1], .console = argc > 2, .apps = apps,
                .log = &log,
        };

        setvbuf(stdin, NULL, _IONBF, 0);
        if (focus_open(&options, &source) < 0 || sources_add(&sources, source) < 0)
                return 1;
        focus_set_sound(source, print_sound, NULL);
        if (argc <= 2 && session_open(source, &log, &source) == 0)
                sources_add(&sources, source);
        code = serve(&sources, apps);
        sources_close(&sources);
        apps_free(apps);
        return code;
}
