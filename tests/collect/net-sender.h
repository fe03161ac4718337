/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Processes that send over the wire of net-fixture.h and stop, and the sums of the bursts that are seen of them. */

#include "net-fixture.h"

#define SILENT_PORT 7999 /* no process listens there, so that nothing comes back to the sender */
#define SMALL 10
#define LARGE 1000

/* Sums over bursts. */
struct sum {
        uint64_t packets[RADIO_DIRECTIONS], bytes[RADIO_DIRECTIONS], large, n;
};

static void add(struct sum *sum, pid_t pid, uint64_t start_time)
{
        check((sample.have & SAMPLE_BURSTS) != 0);
        for (size_t i = 0; i < sample.n_bursts; i++) {
                const struct process_burst *burst = &sample.bursts[i];

                check(burst->burst.first_ns > 0 && burst->burst.first_ns <= burst->burst.last_ns);
                check(burst->burst.packets[0] + burst->burst.packets[1] > 0);
                if (burst->process.pid != pid || burst->process.start_time != start_time)
                        continue;
                if (pid == 0 && burst->air != air) /* a real radio also receives packets of other processes */
                        continue;
                check_int(burst->air, air);
                for (size_t d = 0; d < RADIO_DIRECTIONS; d++) {
                        sum->packets[d] += burst->burst.packets[d];
                        sum->bytes[d] += burst->burst.bytes[d];
                }
                sum->large += burst->burst.large;
                sum->n++;
        }
}

static uint64_t start_of(pid_t pid)
{
        const struct process *process = find(pid);

        check(process != NULL);
        return process ? process->start_time : 0;
}

static void send_to(int fd, uint16_t port, size_t bytes)
{
        struct sockaddr_in at = address(THERE, port);
        char block[LARGE] = { 0 };

        if (sendto(fd, block, bytes, 0, (struct sockaddr *)&at, sizeof(at)) != (ssize_t)bytes)
                _exit(1);
}

static void send_some(int n, size_t bytes)
{
        int fd = socket(AF_INET, SOCK_DGRAM, 0);

        for (int i = 0; i < n; i++)
                send_to(fd, SILENT_PORT, bytes);
        close(fd);
}

static pid_t start(void (*work)(void))
{
        pid_t pid = start_child();

        if (pid == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                work();
                _exit(0);
        }
        return pid;
}

/* Until it stops, or ends. */
static void wait_for(pid_t pid)
{
        waitpid(pid, NULL, WUNTRACED);
}

static void go_on(pid_t pid)
{
        kill(pid, SIGCONT);
        wait_for(pid);
}
