/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* For test-remote-login: prints for each named interface whether a remote login goes over it. */

#include <fcntl.h>
#include <stdio.h>

#include "hold/remote-login.h"
#include "util/util.h"

int main(int argc, char **argv)
{
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        for (int i = 1; i < argc; i++)
                if (remote_login_over(root_fd, argv[i]))
                        puts(argv[i]);
        return 0;
}
