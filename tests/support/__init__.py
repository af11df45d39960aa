"""What tests share: clocks, fakes of the ports, servers, guards."""
