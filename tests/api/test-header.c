/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The public header alone, as pedantic C99 and as C++: this file is compiled as both. */
#include "joulecast.h"

int main(void)
{
        struct joulecast_context *context = 0;

        if (joulecast_context_new(&context) != 0)
                return 1;
        joulecast_context_free(context);
        return 0;
}
